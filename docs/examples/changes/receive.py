"""Keeps the copy by receiving webhooks."""
import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, HTTPServer
from product_copy import apply, list_products, read_place

secret = os.environ["WEBHOOK_SECRET"]
key = base64.b64decode(secret.removeprefix("whsec_"))
max_age_seconds = 300


def is_genuine(id, timestamp, signatures, body):
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > max_age_seconds:
        return False
    expected = hmac.digest(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256)
    signature = "v1," + base64.b64encode(expected).decode()
    # Two signatures while a secret is being replaced.
    return any(hmac.compare_digest(each.encode(), signature.encode()) for each in signatures.split())


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        id, timestamp, signature = (self.headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
        if is_genuine(id, timestamp, signature, body):
            message = json.loads(body)
            # The id of a message about a product ends with the version: msg_5f3a9c0d_7.
            if message["type"].startswith("product."):
                apply(int((id.split("_") + [0])[2]), message["type"], message["data"])
            self.send_response(204)
        else:
            self.send_response(401)
        self.end_headers()


# Changes that were made since the webhook was created are sent again and again until they are taken.
if read_place() is None:
    list_products()
HTTPServer(("", int(os.environ.get("PORT", "8080"))), Receiver).serve_forever()
