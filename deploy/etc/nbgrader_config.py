"""nbgrader on the servers of a hub: which course, where the exchange is, and who submits."""

import os

c = get_config()  # noqa: F821 (nbgrader provides it)

c.CourseDirectory.course_id = "warp-by-warp"
c.Exchange.root = os.environ["COURSE_EXCHANGE"]
c.Exchange.timezone = "UTC"
# Otherwise nbgrader asks the system, which knows one name only where the servers of all students run as one account.
if os.environ.get("JUPYTERHUB_USER"):
    c.CourseDirectory.student_id = os.environ["JUPYTERHUB_USER"]
