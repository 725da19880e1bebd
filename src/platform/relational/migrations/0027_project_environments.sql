-- environments: the names that the environment of a new key can have; null allows any name.
alter table projects add column environments text[]
