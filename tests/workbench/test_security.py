"""Who is let in, and what comes of texts, paths and bodies that mean harm."""

import json

import pytest
from starlette.testclient import TestClient

from whence.core.errors import BadConfig
from whence.workbench.access import Access, access_for, secured
from workbench.conftest import ACCESS, TOKEN, api

HARM = {
    "script": "<script>alert(1)</script> a film",
    "image": '"><img src=x onerror=alert(1)> fine',
    "right to left": "a \u202efilm\u202c great \u05e9\u05dc\u05d5\u05dd",
    "zero width": "a\u200bfilm \u200d great\ufeff",
    "end of data": '</script><!-- ]]> "\\u003c/script>',
}


@pytest.mark.parametrize("path", ["/", "/change", "/static/page.html", "/api/v1/info", "/docs", "/api/v1/openapi.json"])
@pytest.mark.parametrize("given", [{}, {"Authorization": "Bearer wrong"}, {"Cookie": "whence-token=wrong"}])
def test_nothing_is_shown_without_the_token(stranger, path, given):
    answer = stranger.get(path, headers=given)
    assert answer.status_code == 401
    assert "token" in answer.json()["error"]


def test_the_printed_address_leaves_a_cookie_that_scripts_cannot_read(stranger):
    answer = stranger.get(f"/?token={TOKEN}&text=a%20film", follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?text=a+film"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert stranger.get("/api/v1/info").status_code == 200


def test_the_redirect_stays_here(stranger):
    answer = stranger.get(f"//elsewhere.example/x?token={TOKEN}", follow_redirects=False)
    assert answer.headers["location"].startswith("/elsewhere") or answer.headers["location"] == "/x"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.example", "", "[::1", "127.0.0.2"])
def test_another_host_name_is_refused(client, host):
    assert client.get("/api/v1/info", headers={"Host": host}).status_code == 400


def test_another_page_cannot_write(client):
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
        assert client.post("/api/v1/look", json={"text": "a"}, headers=headers).status_code == 403
    assert client.post("/api/v1/look", json={"text": "a"}, headers={"Origin": "http://localhost"}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/api/v1/info", "/static/workbench.css", "/docs", "/nowhere"])
def test_every_answer_has_the_strict_headers(client, path):
    answer = client.get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "/static/../bench.py",
        "/static/..%2fbench.py",
        "/static/%2e%2e/%2e%2e/bench.py",
        "/static//etc/passwd",
        "/static/flow/../../../workbench/bench.py",
        "/api/v1/audits/..%2f..%2fetc/report",
        "/api/v1/audits/%2fetc%2fpasswd/report",
        "/api/v1/audits/../report",
        "/api/v1/results/..%2f..%2f/table.csv",
        "/api/v1/weights/..%2fx/self/0/0",
        "/api/v1/look/..%2f..%2fx",
    ],
)
def test_a_path_leads_nowhere_else(client, path):
    answer = client.get(path)
    assert answer.status_code in (404, 405, 422)
    assert "import" not in answer.text
    assert "root:" not in answer.text


def test_no_request_names_a_model_a_table_or_a_module(client):
    asked = [
        ("/look", {"text": "a", "model": "/etc"}),
        ("/look", {"text": "a", "data": "/etc/passwd"}),
        ("/audits", {"model": "../x"}),
        ("/audits", {"data": "/etc/passwd"}),
        ("/audits", {"experiments": ["os:system"]}),
    ]
    for path, body in asked:
        answer = client.post(f"/api/v1{path}", json=body)
        assert answer.status_code in (400, 422), (path, body, answer.text)
    seen = api(client, "POST", "/look", json={"text": "a film"})
    answer = client.post("/api/v1/scores", json={"id": seen["id"], "methods": ["os:system"]})
    assert answer.status_code == 400
    assert "no explainer" in answer.json()["error"]


def test_a_body_of_ten_megabytes_is_refused(client):
    answer = client.post("/api/v1/look", content=b'{"text": "' + b"a" * 10_000_000 + b'"}')
    assert answer.status_code == 413

    def parts():
        for _ in range(100):
            yield b"a" * 100_000

    assert client.post("/api/v1/look", content=parts()).status_code == 413  # of unknown length


def test_a_long_text_is_refused_and_one_beyond_the_model_is_cut(client):
    refused = client.post("/api/v1/look", json={"text": "a" * 50_001})
    assert refused.status_code == 422
    assert "text" in refused.json()["error"]
    assert "cut" in api(client, "POST", "/look", json={"text": "great film " * 200})["notes"][0]


@pytest.mark.parametrize("name", HARM)
def test_texts_come_back_as_data(client, name):
    answer = client.post("/api/v1/look", json={"text": HARM[name]})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["text"] == HARM[name]
    page = client.get(f"/api/v1/standalone/{answer.json()['id']}")
    assert "attachment" in page.headers["content-disposition"]
    assert "sandbox" in page.headers["content-security-policy"]
    data = page.text.split('id="whence-data">')[1].split("</script>")[0]
    assert json.loads(data)["responses"]["POST /api/v1/look"]["text"] == HARM[name]
    assert "<script>alert" not in page.text
    assert "<img" not in page.text


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"text": 1}', b'{"text": "\\ud800"}', b'{"text": ""}', b"\xff"])
def test_nonsense_gets_a_sentence(client, body):
    answer = client.post("/api/v1/look", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]


def test_a_host_for_others_needs_a_token():
    with pytest.raises(BadConfig, match=r"other machines.*token"):
        access_for("0.0.0.0", None)
    with pytest.raises(BadConfig, match="16 characters"):
        access_for("0.0.0.0", "short")
    assert access_for("0.0.0.0", "x" * 16).token == "x" * 16
    first, second = (access_for("127.0.0.1", None).token for _ in range(2))
    assert first != second
    assert len(first) >= 32


def test_checks_serve_any_application():
    async def hello(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"hello"})

    made = TestClient(secured(hello, Access("t" * 16)), base_url="http://localhost")
    assert made.get("/").status_code == 401
    assert made.get("/", headers={"Authorization": "Bearer " + "t" * 16}).text == "hello"
    assert ACCESS.body < 1_000_000
