// form.js -- check that everything is answered, then give the student a small file to hand in
const form = document.querySelector("form"), says = document.getElementById("says");

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const student = form.elements.student.value.trim();
  const open = [...form.querySelectorAll("fieldset")].filter((field) => !field.querySelector("input:checked"));
  if (!student || open.length) {
    const first = student ? open[0].querySelector("input") : form.elements.student;
    says.textContent = student
      ? `Still open: question ${open.map((field) => field.dataset.number).join(", ")}. "I do not know yet" is an answer, too.`
      : "Please write your name on the learning platform first, at the top.";
    first.focus();
    return;
  }
  const answers = {};
  for (const chosen of form.querySelectorAll("input:checked")) answers[chosen.name] = chosen.value;
  const { version, phase } = form.dataset;
  const made = { questions: "warp-by-warp", version: Number(version), phase, student, saved: new Date().toISOString(), answers };
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(made, null, 1)], { type: "application/json" }));
  link.download = `questions_${phase}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  says.textContent = `Saved as ${link.download}, where your browser puts downloads. Hand in that file.`;
});
