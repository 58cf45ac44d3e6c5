-- Nothing to do: PostgreSQL keeps long texts outside of the row. SQLite does not; see its file of this name.
SELECT 1;
