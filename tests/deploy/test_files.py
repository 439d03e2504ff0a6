"""What the files of deploy/ promise each other, the app, and the version of Streamlit that is installed."""

import base64
import hashlib
import ipaddress
import re
import shutil
import subprocess
import tomllib
from configparser import RawConfigParser
from pathlib import Path
from typing import Any

import pytest
import streamlit
import yaml
from streamlit import config, net_util
from streamlit.web import bootstrap

from core import printed
from deploy import health, serve
from pages import PAGES
from tests.browser.server import ROOT
from tests.deploy import nginx
from tests.test_architecture import requirements

DEPLOY = ROOT / "deploy"
TUTOR_CONF = (DEPLOY / "nginx" / "tutor.conf").read_text(encoding="utf-8")
PROCESSES_CONF = (DEPLOY / "nginx" / "processes.conf").read_text(encoding="utf-8")
SETTINGS = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
PORTS = ["8501", "8502"]
HEALTH = "/_stcore/health"
SECRET = "STREAMLIT_SERVER_COOKIE_SECRET"


def documents(file: str) -> list[Any]:
    return list(yaml.safe_load_all((DEPLOY / file).read_text(encoding="utf-8")))


def pod() -> dict[str, Any]:
    return documents("k8s/pods.yaml")[0]["spec"]["template"]["spec"]


def environment(container: dict[str, Any]) -> dict[str, str]:
    return {given["name"]: given["value"] for given in container.get("env", [])}


def of(text: str) -> str:
    """A hash as a policy names it."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def policy() -> dict[str, list[str]]:
    found = re.search(r'Content-Security-Policy "([^"]+)"', TUTOR_CONF)
    assert found
    return {name: sources for name, *sources in (part.split() for part in found[1].split(";"))}


# nginx


def test_the_policy_lets_only_the_scripts_run_that_we_know():
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    inline = [of(script) for script in re.findall(r"<script>(.*?)</script>", page, re.DOTALL)]
    handlers = [of(code) for code in re.findall(r'onclick="([^"]+)"', printed.PRINT)]
    assert inline
    assert handlers
    expected = ["'self'", "blob:", *inline, "'unsafe-hashes'", *handlers]
    assert policy()["script-src"] == expected


def test_the_policy_names_no_other_host():
    allowed = {"'none'", "'self'", "blob:", "data:", "'unsafe-hashes'", "'unsafe-inline'"}
    for name, sources in policy().items():
        foreign = {source for source in sources if not source.startswith("'sha256-")} - allowed
        assert not foreign, name
    assert [name for name, sources in policy().items() if "'unsafe-inline'" in sources] == ["style-src"]


def test_an_upload_may_be_as_large_for_nginx_as_for_the_app():
    """And one megabyte for the form around the file, which is what the app itself adds."""
    most = SETTINGS["server"]["maxUploadSize"] + 1
    assert f"client_max_body_size {most}m;" in TUTOR_CONF
    annotations = documents("k8s/service.yaml")[1]["metadata"]["annotations"]
    assert annotations["nginx.ingress.kubernetes.io/proxy-body-size"] == f"{most}m"


def test_no_location_drops_the_headers_of_the_server():
    """nginx forgets all inherited headers in a location that adds one."""
    server = TUTOR_CONF[TUTOR_CONF.index("server {") :]
    assert "add_header" not in server[server.index("    location / {") :]


def test_nginx_knows_every_page_by_its_address():
    found = re.search(r"/\(\?:([a-z_|]+)\)\)/", TUTOR_CONF)
    assert found
    assert found[1].split("|") == [page.slug for page in PAGES[1:]]


def test_every_process_has_its_three_lines():
    assert re.findall(r"server 127\.0\.0\.1:(\d+) max_fails", PROCESSES_CONF) == PORTS
    assert re.findall(r"upstream process_(\d+) { server 127\.0\.0\.1:\1;", PROCESSES_CONF) == PORTS
    assert re.findall(r"^\s+(\d+)\s+process_\1;", PROCESSES_CONF, re.MULTILINE) == PORTS


def test_the_containers_differ_only_in_the_names_of_the_processes():
    for_compose = (DEPLOY / "compose-processes.conf").read_text(encoding="utf-8")
    assert for_compose == re.sub(r"127\.0\.0\.1:(\d+)", r"app\1:\1", PROCESSES_CONF)


def test_nginx_missing_is_said_and_not_passed_over(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(RuntimeError, match="apt-get install nginx"):
        nginx.program()


# settings


def test_visitors_see_no_details_of_an_error_and_nobody_is_told_of_them():
    assert SETTINGS["client"]["showErrorDetails"] == "none"
    assert SETTINGS["browser"]["gatherUsageStats"] is False


def test_an_app_is_reached_through_nginx_only_unless_it_is_asked_for():
    assert serve.SETTINGS["STREAMLIT_SERVER_ADDRESS"] == "127.0.0.1"


def test_health_follows_port_and_base_path(monkeypatch):
    monkeypatch.delenv("STREAMLIT_SERVER_PORT", raising=False)
    monkeypatch.delenv("STREAMLIT_SERVER_BASE_URL_PATH", raising=False)
    assert health.address() == "http://127.0.0.1:8501/_stcore/health"
    monkeypatch.setenv("STREAMLIT_SERVER_PORT", "8502")
    monkeypatch.setenv("STREAMLIT_SERVER_BASE_URL_PATH", "/a/b/")
    assert health.address() == "http://127.0.0.1:8502/a/b/_stcore/health"


def test_health_of_a_process_that_is_not_there(monkeypatch):
    monkeypatch.setenv("STREAMLIT_SERVER_PORT", "1")
    with pytest.raises(SystemExit, match="refused"):
        health.main()


def test_the_greeting_asks_no_other_company_for_our_address(monkeypatch, capsys):
    """As it is printed without a screen and without --server.address."""
    given = {"server.headless": True, "browser.serverAddress": SETTINGS["browser"]["serverAddress"]}
    asked = []
    monkeypatch.setattr(net_util, "get_external_ip", lambda: asked.append("outside"))
    real = config.get_option
    monkeypatch.setattr(config, "get_option", lambda name: given.get(name, real(name)))
    monkeypatch.setattr(config, "is_manually_set", lambda name: name in given)
    bootstrap._print_url(is_running_hello=False)
    assert "http://localhost:" in capsys.readouterr().out
    assert not asked
    del given["browser.serverAddress"]
    bootstrap._print_url(is_running_hello=False)
    assert asked, "what the setting is there for"


@pytest.mark.parametrize("file", ["deploy/README.md", "SECURITY.md"])
def test_every_file_that_is_pointed_at_exists(file):
    targets = re.findall(r"\]\(([^)#]+)\)", (ROOT / file).read_text(encoding="utf-8"))
    assert targets
    assert not [target for target in targets if not ((ROOT / file).parent / target).exists()]


# systemd


def test_the_units_start_the_processes_that_nginx_knows():
    unit, target = RawConfigParser(strict=False), RawConfigParser()
    for parser, name in ((unit, "attention-tutor@.service"), (target, "attention-tutor.target")):
        parser.optionxform = str
        parser.read(DEPLOY / "systemd" / name)
    assert target["Unit"]["Wants"].split() == [f"attention-tutor@{port}.service" for port in PORTS]
    assert unit["Service"]["ExecStart"].endswith("-m deploy.serve --server.port=%i")
    assert unit["Service"]["EnvironmentFile"] == "/etc/attention-tutor.env"
    given = (DEPLOY / "systemd" / "attention-tutor.env").read_text(encoding="utf-8")
    assert f"\n{SECRET}=\n" in given, "no secret is shipped"


def test_a_call_that_the_unit_forbids_fails_and_does_not_kill():
    """systemd's default is to kill, and NumPy makes one of them with the first product of a visit."""
    unit = (DEPLOY / "systemd" / "attention-tutor@.service").read_text(encoding="utf-8")
    assert "\nSystemCallFilter=~@privileged @resources\n" in unit
    assert "\nSystemCallErrorNumber=EPERM\n" in unit


# containers


def test_compose_runs_the_processes_closed():
    services = documents("compose.yaml")[0]["services"]
    apps = [services[f"app{port}"] for port in PORTS]
    assert [app["environment"]["STREAMLIT_SERVER_PORT"] for app in apps] == PORTS
    assert {app["environment"][SECRET].partition(":?")[0] for app in apps} == {"${" + SECRET}
    assert set(services) == {*(f"app{port}" for port in PORTS), "nginx"}
    assert not [app for app in apps if "ports" in app], "only nginx is reached from outside"
    for service in services.values():
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
    mounted = [volume.split(":")[0] for volume in services["nginx"]["volumes"]]
    assert all((DEPLOY / file).is_file() for file in mounted)
    assert services["nginx"]["ports"] == ["80:8080"]
    assert "listen 8080;" in TUTOR_CONF


def test_processes_that_restart_keep_their_addresses():
    """nginx asks for an address only once. Without these lines Docker deals them out anew at each start."""
    compose = documents("compose.yaml")[0]
    subnet = ipaddress.ip_network(compose["networks"]["default"]["ipam"]["config"][0]["subnet"])
    apps = [compose["services"][f"app{port}"] for port in PORTS]
    given = {ipaddress.ip_address(app["networks"]["default"]["ipv4_address"]) for app in apps}
    assert len(given) == len(PORTS)
    assert all(address in subnet for address in given)
    for_compose = (DEPLOY / "compose-processes.conf").read_text(encoding="utf-8")
    assert set(re.findall(r"server (\w+):", for_compose)) == {f"app{port}" for port in PORTS}


def test_the_pods_are_the_set_up_of_one_machine():
    containers = {container["name"]: container for container in pod()["containers"]}
    assert list(containers) == ["nginx", *(f"app{port}" for port in PORTS)]
    for port in PORTS:
        app = containers[f"app{port}"]
        assert environment(app) == {"STREAMLIT_SERVER_PORT": port}
        for probe in ("startupProbe", "livenessProbe"):
            assert app[probe]["httpGet"] == {"path": HEALTH, "port": int(port)}
    assert containers["nginx"]["ports"] == [{"name": "http", "containerPort": 8080}]
    assert containers["nginx"]["readinessProbe"]["httpGet"] == {"path": HEALTH, "port": "http"}


def test_the_pods_are_closed():
    assert pod()["securityContext"]["runAsNonRoot"]
    assert not pod()["automountServiceAccountToken"]
    for container in pod()["containers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"]["memory"]


def test_a_browser_keeps_to_its_pod():
    service, ingress = documents("k8s/service.yaml")
    traefik, other = (each["metadata"]["annotations"] for each in (service, ingress))
    assert traefik["traefik.ingress.kubernetes.io/service.sticky.cookie"] == "true"
    assert other["nginx.ingress.kubernetes.io/affinity"] == "cookie"
    names = traefik["traefik.ingress.kubernetes.io/service.sticky.cookie.name"]
    assert names == other["nginx.ingress.kubernetes.io/session-cookie-name"] != "tutor_process"
    assert service["spec"]["ports"][0]["targetPort"] == "http"


def test_the_cluster_scales_and_drains_the_pods():
    scaler, budget = documents("k8s/scaling.yaml")
    assert scaler["spec"]["scaleTargetRef"]["name"] == documents("k8s/pods.yaml")[0]["metadata"]["name"]
    assert 1 < scaler["spec"]["minReplicas"] < scaler["spec"]["maxReplicas"]
    label = documents("kustomization.yaml")[0]["labels"][0]["pairs"]
    assert budget["spec"]["selector"]["matchLabels"] == label
    for file in documents("kustomization.yaml")[0]["resources"]:
        assert (DEPLOY / file).is_file()


# supply


def test_what_is_installed_is_locked_with_hashes():
    text = (DEPLOY / "requirements.lock").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())
    locked = dict(re.match(r"([a-z0-9-]+)==(\S+)", entry).groups() for entry in entries)
    assert all("--hash=sha256:" in entry for entry in entries)
    wanted = requirements("requirements.txt") | requirements("deploy/requirements.in")
    assert {name: locked[re.sub(r"\[.*", "", name)] for name in wanted} == wanted
    assert requirements("deploy/requirements.in").items() <= requirements("requirements-dev.txt").items()


@pytest.mark.parametrize("file", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda p: p.name)
def test_workflows_may_read_and_run_only_what_is_named_exactly(file):
    text = file.read_text(encoding="utf-8")
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    for used in re.findall(r"uses: (\S+)", text):
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", used), used


def test_updates_come_in_groups_and_not_at_once():
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    assert {update["package-ecosystem"] for update in updates} >= {"pip", "github-actions", "docker"}
    for update in updates:
        assert update["cooldown"]["default-days"] >= 7
        assert update["groups"]


def test_the_shipped_files_are_what_nginx_itself_accepts(tmp_path):
    """`nginx -t` on them as they are, ports and all; the running site is in tests/browser/test_nginx.py."""
    (tmp_path / "conf.d").mkdir()
    for name, text in {"tutor.conf": TUTOR_CONF, "processes.conf": PROCESSES_CONF}.items():
        (tmp_path / "conf.d" / name).write_text(text.replace("/var/log/nginx", str(tmp_path)))
    (tmp_path / "nginx.conf").write_text(nginx.AROUND.format(folder=tmp_path))
    command = [nginx.program(), "-t", "-e", f"{tmp_path}/error.log", "-p", str(tmp_path), "-c", "nginx.conf"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    assert "warn" not in done.stderr
