"""How nbgrader sees the course: solutions/ is written by hand, exercises/ is generated from it.

`python -m course_lib.grading.classroom.generate` is the way to generate; it calls nbgrader with this file.
"""

from nbgrader import preprocessors as stock

from course_lib.grading.classroom import preprocessors as ours

c = get_config()  # noqa: F821 (nbgrader provides it)

c.CourseDirectory.course_id = "warp-by-warp"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = "grading/submitted"
c.CourseDirectory.autograded_directory = "grading/autograded"
c.CourseDirectory.feedback_directory = "grading/feedback"
c.CourseDirectory.db_url = "sqlite:///grading/gradebook.db"
# What running a notebook leaves beside it must not reach students.
c.CourseDirectory.ignore = [
    ".*", "__pycache__", "*.pyc", "*.cu", "*.ptx", "*.cubin", "*.o", "*.so", "*.c", "*.log", "*.db", "*.npz",
    "feedback",
]

c.GenerateAssignment.preprocessors = [
    stock.IncludeHeaderFooter,
    ours.DropInstructorCells,
    ours.DropOtherVariants,
    stock.LockCells,
    ours.ClearCudaSolutions,
    stock.ClearOutput,
    ours.StripMetadata,
    stock.CheckCellMetadata,
    stock.ComputeChecksums,
    stock.SaveCells,                # with the hidden tests, into the instructor's database
    stock.ClearHiddenTests,
    stock.ClearMarkScheme,
    stock.ComputeChecksums,
    stock.CheckCellMetadata,
]
