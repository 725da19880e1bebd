import { expect, test } from 'vitest'
import { isChange } from './changed-tables.ts'

test.each([
  'insert into "api_keys" ("id") values ($1)',
  'update "tasks" set "status" = $1',
  'with gone as (delete from legal_holds where id = $1 returning id) select id from gone',
  'insert into "idempotency_keys" ("a") values ($1); update projects set name = $1',
  'select 1 from "a" for update; delete from b',
])('%s is a change', (sql) => expect(isChange(sql)).toBe(true))

test.each([
  'select * from "projects" where "id" = $1 for update',
  'select id from job_runs for update of job_runs skip locked',
  'select id from job_runs for update skip locked limit 1',
  'select id from job_runs for update nowait',
  'insert into idempotency_keys (a) values ($1) on conflict (a) do update set a = $1',
  'select updated_at, "update" from deleted_things',
  'insert into "used_sign_ins" ("state_hash") values ($1) on conflict do nothing',
  'begin',
  'commit',
])('%s is none', (sql) => expect(isChange(sql)).toBe(false))
