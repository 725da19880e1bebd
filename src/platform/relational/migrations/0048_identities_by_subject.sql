-- A subject is one person in all clients of its issuer, unless its subjects are pairwise.
create index user_identities_by_subject on user_identities (issuer, subject)
