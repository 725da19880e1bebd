-- When an administrator removed the links of an account to an issuer. Access tokens from before that
-- time do not link their subject again.
alter table users add column identities_removed_at timestamptz(3)
