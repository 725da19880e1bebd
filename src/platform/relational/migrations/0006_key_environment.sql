-- The environment of what comes in with a key, where the call or the resource names none.
alter table api_keys add column environment text
