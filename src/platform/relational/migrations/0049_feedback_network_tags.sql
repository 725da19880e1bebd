-- A keyed tag of the client network of a browser key, by which the items of a task from one network
-- are counted. It has 15 bits and differs for each task, so that it shows no address.
alter table feedback add column network_tag smallint
