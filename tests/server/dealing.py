"""Two dealers' screens on the server, through nginx and TLS: `dealing.py PLAN`. Standard library only.

    {"house": "casino.trial.test", "authority": "/etc/casino-ca/ca.pem", "dealers": [...], "seconds": 10,
     "over": "/run/over"}

Each screen changes a bet again and again, and sends the house's signed receipt with the next input. Acknowledged and
refused inputs are printed as one line of JSON.
"""

import http.client
import json
import os
import ssl
import sys
import threading
import time
import uuid

PAUSE_SECONDS = 0.2
TOKEN = "t" * 32
LOST = (OSError, http.client.HTTPException)


def ask(line, method, path, body, heads):
    """Send a request, as browsers do once more if a kept-alive connection is closed before any answer: a proxy closes
    idle connections when it reloads its configuration."""
    was_open = line.sock is not None
    try:
        line.request(method, path, body, heads)
        return line.getresponse()
    except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError, ssl.SSLEOFError):
        line.close()
        if not was_open:
            raise
        line.request(method, path, body, heads)
        return line.getresponse()


class Screen:
    def __init__(self, plan, dealer):
        self.house = plan["house"]
        self.table, self.seq = dealer["table"], dealer["seq"]
        self.receipt = dealer.get("receipt", "")
        cookies = dealer["cookies"] | {"csrftoken": TOKEN}
        self.heads = {
            "Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()),
            "X-CSRFToken": TOKEN,
            "Referer": f"https://{self.house}/",
            "Content-Type": "application/json",
        }
        context = ssl.create_default_context(cafile=plan["authority"])
        self.line = http.client.HTTPSConnection(self.house, 443, context=context, timeout=30)
        self.bet_cents = 1_000
        self.acknowledged, self.refused = [], []

    def ask(self, method, path, body=None):
        heads = self.heads | ({"Casino-Acknowledged": self.receipt} if self.receipt else {})
        answer = ask(self.line, method, path, body, heads)
        self.receipt = answer.getheader("Casino-Acknowledged") or self.receipt
        return answer.status, answer.read().decode()

    def enter(self):
        self.bet_cents = 3_000 - self.bet_cents
        key = str(uuid.uuid4())
        bet = {"do": "bet", "seat": 1, "amount_cents": self.bet_cents}
        body = json.dumps({"key": key, "expected_seq": self.seq, "input": bet})
        try:
            status, text = self.ask("POST", f"/api/tables/{self.table}/inputs/", body)
        except LOST as fault:
            self.line.close()
            self.refused.append(repr(fault))
            return
        if text.startswith("{"):
            self.seq = json.loads(text).get("seq", self.seq)  # a screen would show the new state
        if status == 200:
            self.acknowledged.append(key)
        else:
            self.refused.append(f"{status} {text[:300]}")

    def deal(self, end, over):
        while time.monotonic() < end and not (over and os.path.exists(over)):
            self.enter()
            time.sleep(PAUSE_SECONDS)

    def report(self):
        dealer = {"table": self.table, "seq": self.seq, "receipt": self.receipt}
        return dealer | {"acknowledged": self.acknowledged, "refused": self.refused}


def main():
    with open(sys.argv[1]) as file:
        plan = json.load(file)
    screens = [Screen(plan, dealer) for dealer in plan["dealers"]]
    if path := plan.get("look"):
        print(json.dumps(screens[0].ask("GET", path)))
        return
    if path := plan.get("stream"):
        screens[0].line.request("GET", path, headers=screens[0].heads)
        answer = screens[0].line.getresponse()
        print(json.dumps([answer.status, answer.readline().decode().strip()]))
        return
    end, over = time.monotonic() + plan["seconds"], plan.get("over", "")
    threads = [threading.Thread(target=screen.deal, args=[end, over]) for screen in screens]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps([screen.report() for screen in screens]))


if __name__ == "__main__":
    main()
