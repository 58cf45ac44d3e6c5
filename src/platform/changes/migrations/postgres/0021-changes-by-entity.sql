-- The history of one entity, such as a product. Ids of entities ascend with those of entries where things are created, so
-- creating one adds to the end of the index. Seconds for a million entries: see docs/decisions/0019-change-log.md.
CREATE INDEX changes_entity ON changes (topic, entity_id, id);
