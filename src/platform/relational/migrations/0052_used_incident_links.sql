-- The actions of a message's links that a person used: each works once.
alter table notification_outbox add column used_links text[] not null default '{}'
