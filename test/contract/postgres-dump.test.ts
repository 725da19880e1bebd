import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  migrateRelational,
  partitionPolicy,
  tablesWithoutPolicy,
} from '../../src/platform/relational/index.ts'
import { preludeOf } from '../../src/platform/relational/scoped-pool.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import {
  noPostgresPrograms,
  postgresPrograms,
  startPostgresOf,
} from '../support/postgres-programs.ts'
import { seedEveryTable, type Tenant, tenantOf } from '../support/tenant-rows.ts'

/** A dump and a restore with the commands of the guide, by the owner of the tables. */
const logger = createLogger({ role: 'test', level: 'silent' })
const run = promisify(execFile)
const [ours, theirs] = [tenantOf('ours', 'a'), tenantOf('theirs', 'b')]
let bin: string | undefined
let server: Awaited<ReturnType<typeof startPostgresOf>> | undefined
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'looptrace-dump-'))
  bin = await postgresPrograms()
  if (bin !== undefined) server = await startPostgresOf(bin)
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})
beforeEach(({ skip }) => skip(bin === undefined, noPostgresPrograms))

const addressOf = (database: string, login: string) => {
  const url = new URL(server?.url ?? '')
  url.pathname = `/${database}`
  url.username = login
  return url.href
}

async function within<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return work(client).finally(() => client.end())
}

/** Runs a program of PostgreSQL as the guide does. */
const program = (name: string, args: readonly string[], env: Record<string, string> = {}) =>
  run(join(bin ?? '', name), args, { env: { ...process.env, ...env } })

/** A migrated database with a row of each tenant in every table, as its owner has it. */
async function seeded(name: string): Promise<void> {
  await within(addressOf('postgres', 'looptrace'), async (admin) => {
    await admin.query(`create role ${name} login nosuperuser`)
    await admin.query(`create database ${name} owner ${name}`)
  })
  await migrateRelational({ url: addressOf(name, name), logger })
  await within(addressOf(name, 'looptrace'), async (admin) => {
    await seedEveryTable(admin, [ours, theirs], Object.keys(tablesWithoutPolicy))
    for (const { row_id, name: text } of [ours, theirs]) {
      await admin.query(
        `insert into users (id, email, display_name) values ($1, $2, $2) on conflict do nothing`,
        [row_id, `${text}@example.com`],
      )
    }
    for (const table of ['hot_traces_rest', 'hot_observations_rest']) {
      await admin.query(`alter table ${table} owner to ${name}`)
      for (const statement of partitionPolicy(table)) await admin.query(statement)
    }
  })
}

/** Counts the rows of every table, also of partitions, as the superuser. */
function countsOf(database: string): Promise<Record<string, number>> {
  return within(addressOf(database, 'looptrace'), async (client) => {
    const { rows } = await client.query(
      `select relname as name from pg_class where relkind in ('r', 'p')
        and relnamespace = 'public'::regnamespace order by 1`,
    )
    const counts: Record<string, number> = {}
    for (const { name } of rows) {
      const counted = await client.query(`select count(*)::int as n from ${name}`)
      counts[name] = counted.rows[0].n
    }
    return counts
  })
}

/** The projects whose rows a scope shows in each table with rows of projects. */
async function shownTo(tenant: Tenant, url: string, role: string): Promise<Set<string>> {
  return within(url, async (client) => {
    const { rows } = await client.query(
      `select distinct table_name as name from information_schema.columns c
       join pg_class on relname = table_name and not relispartition and relforcerowsecurity
       where column_name = 'project_id' and table_schema = 'public'`,
    )
    expect(rows.length).toBeGreaterThan(60)
    const { text, values = [] } = preludeOf(
      { kind: 'project', project_id: tenant.project_id },
      role,
    )
    await client.query('begin')
    await client.query(text, [...values])
    const projects = new Set<string>()
    for (const { name } of rows) {
      const found = await client.query(
        `select project_id from ${name} where project_id is not null`,
      )
      for (const { project_id } of found.rows) projects.add(project_id)
    }
    await client.query('rollback')
    return projects
  })
}

test('a dump of the owner is complete, and the walls stand after the restore', async () => {
  await seeded('own')
  const file = join(folder, 'own.dump')
  const dump = ['--format=custom', '--enable-row-security', `--file=${file}`]
  await program('pg_dump', [...dump, addressOf('own', 'own')], {
    PGOPTIONS: '-c looptrace.scope=installation',
  })
  await within(addressOf('postgres', 'looptrace'), (admin) =>
    admin.query('create database restored owner own'),
  )
  const target = addressOf('restored', 'own')
  await program('pg_restore', [
    ...['--exit-on-error', '--no-owner', '--no-privileges'],
    ...[`--dbname=${target}`, file],
  ])
  const counts = await countsOf('own')
  expect(await countsOf('restored')).toEqual(counts)
  expect(counts).toMatchObject({ tasks: 2, audit_records: 2, hot_traces_rest: 2, users: 2 })

  await migrateRelational({ url: target, logger })
  expect(await shownTo(ours, target, 'none')).toEqual(new Set([ours.project_id]))
  const admin_url = addressOf('restored', 'looptrace')
  await migrateRelational({ url: admin_url, logger })
  expect(await shownTo(theirs, admin_url, 'looptrace_app')).toEqual(new Set([theirs.project_id]))
})

test('a dump of the owner without the options is refused, and not incomplete', async () => {
  await seeded('plain')
  const file = join(folder, 'plain.dump')
  const dump = program('pg_dump', [`--file=${file}`, addressOf('plain', 'plain')])
  await expect(dump).rejects.toThrow('query would be affected by row-level security policy')
  expect(await readFile(file, 'utf8').catch(() => '')).not.toContain('text of ours')
})

test('a dump without the scope has no rows of tenants', async () => {
  await seeded('unscoped')
  const { stdout } = await program('pg_dump', [
    ...['--enable-row-security', '--data-only', addressOf('unscoped', 'unscoped')],
  ])
  expect(stdout).toContain('COPY public.tasks')
  expect(stdout).not.toContain('text of ours')
})
