"""A copy of the products in a SQLite file. follow.py and receive.py keep it up to date."""
import json, os, sqlite3, sys, time
from urllib.error import HTTPError
from urllib.request import urlopen

base = os.environ.get("LATCHKEY_URL", "http://localhost:3000")
copy = sqlite3.connect(os.environ.get("COPY_FILE", "products.db"), isolation_level=None)
copy.executescript("""PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS products (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, data TEXT);
  CREATE TABLE IF NOT EXISTS place (id INTEGER PRIMARY KEY, cursor TEXT NOT NULL)""")


def apply(version, type, data):
    """A change that comes again, or after a later one, does nothing. A deleted product leaves a row without data."""
    text = None if type == "product.deleted" else json.dumps(data)
    copy.execute("""INSERT INTO products VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE
      SET version = excluded.version, data = excluded.data WHERE excluded.version >= products.version""",
      (data["id"], version, text))


def read_place():
    return next((cursor for (cursor,) in copy.execute("SELECT cursor FROM place")), None)


def save_place(cursor):
    """Saved after the changes before it, which come again if the program ends in between."""
    copy.execute("REPLACE INTO place VALUES (1, ?)", (cursor,))


def get(path):
    """Asks until there is an answer. Returns None if the cursor has expired."""
    while True:
        try:
            with urlopen(base + path, timeout=60) as response:
                return json.load(response), response.headers["x-cursor"]
        except Exception as error:
            if isinstance(error, HTTPError) and error.code == 410:
                return None, None
            print(f"{path}: {error}", file=sys.stderr)
            time.sleep(1)


def list_products():
    """Reads the whole table, and returns the cursor from which to go on."""
    copy.execute("UPDATE products SET version = -1")
    start, after = None, ""
    while after is not None:
        # By id, each page after the last product of the one before: nothing is left out while products come and go.
        body, cursor = get(f"/api/v2/products?sort=id&per_page=100&cursor={after}")
        start = start or cursor
        for product in body["data"]:
            apply(0, "product.listed", product)
        after = body["meta"]["next"]
    copy.execute("DELETE FROM products WHERE version = -1")
    save_place(start)
    return start
