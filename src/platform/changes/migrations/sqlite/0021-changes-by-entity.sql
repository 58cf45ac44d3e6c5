-- The history of one entity, such as a product. Ids of entities ascend with those of entries where things are created, so
-- creating one adds to the end of the index. SQLite appends the id of the entry, by which it is ordered within an entity.
CREATE INDEX changes_entity ON changes (topic, entity_id);
