"""JupyterHub for one class on one machine: every student a Unix account, every account a JupyterLab, nbgrader's exchange between them.

    jupyterhub -f deploy/jupyterhub_config.py

README.md beside this file says what to install and who may do what. Two folders come from the environment:

    COURSE_HUB        what the hub keeps: its database, its cookie secret, its log   (default: /srv/warp-by-warp/hub)
    COURSE_EXCHANGE   the exchange: exercises, submissions, feedback                 (default: /srv/warp-by-warp/exchange)
"""

import os
import sys
from pathlib import Path

c = get_config()  # noqa: F821 (JupyterHub provides it)

HERE = Path(__file__).resolve().parent
HUB = Path(os.environ.get("COURSE_HUB", "/srv/warp-by-warp/hub"))
EXCHANGE = Path(os.environ.get("COURSE_EXCHANGE", "/srv/warp-by-warp/exchange"))
for name, folder in (("COURSE_HUB", HUB), ("COURSE_EXCHANGE", EXCHANGE)):
    if not folder.is_dir():
        sys.exit(f"There is no folder {folder}: make it as deploy/README.md says, or name another one in {name}.")

# Only this machine reaches the hub; a web server with a certificate (nginx, Caddy) stands before it.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:8081"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:8001"
c.ConfigurableHTTPProxy.command = [str(Path(sys.executable).with_name("configurable-http-proxy"))]       # the one in Python: no Node.js

c.JupyterHub.db_url = f"sqlite:///{HUB / 'jupyterhub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(HUB / "cookie_secret")

# Who may log in: Unix accounts, by their passwords, if they are in one of these groups.
c.JupyterHub.authenticator_class = "pam"
c.PAMAuthenticator.allowed_groups = {"students", "instructors"}
c.PAMAuthenticator.admin_groups = {"instructors"}

# Each server runs as its student, in the student's home.
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.cmd = [str(Path(sys.executable).with_name("jupyterhub-singleuser"))]
c.Spawner.default_url = "/lab"
c.Spawner.ip = "127.0.0.1"
c.Spawner.environment = {
    "JUPYTER_CONFIG_PATH": str(HERE / "etc"),          # for every server: where the exchange is, no formgrader
    "COURSE_EXCHANGE": str(EXCHANGE),
    "COURSE_BACKEND": "sim",
}
