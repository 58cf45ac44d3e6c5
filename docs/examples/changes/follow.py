"""Keeps the copy by following the change log."""
import time
from product_copy import apply, get, list_products, read_place, save_place

cursor = read_place()
while True:
    cursor = cursor or list_products()
    body, _ = get(f"/api/v2/products/changes?after={cursor}&limit=1000&wait=25")
    if body is None:  # Away for longer than the log is kept.
        cursor = None
        continue
    for change in body["data"]:
        apply(change["version"], change["type"], change["data"])
    cursor = body["meta"]["cursor"]
    save_place(cursor)
    if not body["data"]:  # A service that is about to stop does not wait.
        time.sleep(1)
