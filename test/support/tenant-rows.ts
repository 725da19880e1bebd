import pg from 'pg'

/** The ids that the rows of a tenant have. */
export type Tenant = { name: string; organization_id: string; project_id: string; row_id: string }

/** Makes the ids of a tenant, from one digit. */
export function tenantOf(name: string, digit: string): Tenant {
  const id = (kind: string) => `${digit.repeat(8)}-0000-7000-8000-${kind.repeat(12)}`
  return { name, organization_id: id('1'), project_id: id('2'), row_id: id('3') }
}

/** A column as `insert` needs it. */
type Column = { name: string; type: string; required: boolean }

/** A table with the columns that a statement may write. */
export type SeededTable = { name: string; columns: Column[] }

/**
 * Stores a row of each tenant in every table but those named, without the rules of the tables: the
 * test is about who sees a row, not about what it contains.
 */
export async function seedEveryTable(
  client: pg.ClientBase,
  tenants: readonly Tenant[],
  without: Iterable<string>,
): Promise<SeededTable[]> {
  await client.query("set session_replication_role = 'replica'")
  await client.query("set looptrace.scope = 'installation'")
  await dropRules(client)
  const tables = await listTables(client, [...without])
  for (const { name, columns } of tables) {
    for (const tenant of tenants) await client.query(insertText({ name, columns }, tenant))
  }
  return tables
}

async function dropRules(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ text: string }>(
    `select format('alter table %I drop constraint %I', r.relname, c.conname) as text
     from pg_constraint c join pg_class r on r.oid = c.conrelid
     where c.contype = 'c' and r.relnamespace = 'public'::regnamespace`,
  )
  for (const { text } of rows) await client.query(text)
  for (const table of ['hot_observations', 'hot_traces']) {
    await client.query(`create table if not exists ${table}_rest partition of ${table} default`)
  }
}

async function listTables(client: pg.ClientBase, without: string[]): Promise<SeededTable[]> {
  const { rows } = await client.query<SeededTable>(
    `select c.relname as name, json_agg(json_build_object('name', a.attname,
        'type', format_type(a.atttypid, null),
        'required', a.attnotnull or a.attname in ('tenant_id', 'project_id')) order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
       and not c.relispartition and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
       and a.attidentity = ''
       and not c.relname = any($1)
     group by c.relname order by c.relname`,
    [without],
  )
  return rows
}

/** Values of a row by column, as text; other columns get the values of the tenant. */
export type RowValues = Readonly<Record<string, string>>

/** Writes the statement that inserts the row of a tenant. */
export function insertText(
  { name, columns }: SeededTable,
  tenant: Tenant,
  given: RowValues = {},
): string {
  const used = columns.filter((column) => column.required || column.name in given)
  const names = used.map((column) => pg.escapeIdentifier(column.name)).join(', ')
  const values = used.map((column) => valueText(name, column, { tenant, given })).join(', ')
  return `insert into ${pg.escapeIdentifier(name)} (${names}) values (${values})`
}

function valueText(
  table: string,
  { name, type }: Column,
  { tenant, given }: { tenant: Tenant; given: RowValues },
): string {
  return `${pg.escapeLiteral(given[name] ?? valueFor(table, { name, type }, tenant))}::${type}`
}

/** Stores rows of tenants with these values, without the rules of the tables. */
export async function seedRows(
  client: pg.ClientBase,
  tenants: readonly Tenant[],
  rows: readonly (readonly [table: string, given: RowValues])[],
): Promise<void> {
  await client.query("set session_replication_role = 'replica'")
  await dropRules(client)
  const tables = await listTables(client, [])
  for (const [table, given] of rows) {
    const found = tables.find(({ name }) => name === table)
    if (found === undefined) throw new Error(`no table ${table}`)
    for (const tenant of tenants) await client.query(insertText(found, tenant, given))
  }
}

function valueFor(
  table: string,
  { name, type }: Pick<Column, 'name' | 'type'>,
  tenant: Tenant,
): string {
  if (type === 'uuid') return idFor(table, name, tenant)
  if (type.endsWith('[]') || type.startsWith('json')) return '{}'
  if (type === 'bytea') return `\\x${tenant.row_id.replaceAll('-', '')}`
  if (type.startsWith('timestamp') || type === 'date') return '2026-01-01'
  return type === 'text' ? `text of ${tenant.name}` : '1'
}

function idFor(
  table: string,
  column: string,
  { organization_id, project_id, row_id }: Tenant,
): string {
  if (column === 'organization_id' || column === 'chain_id') return organization_id
  if (column === 'project_id' || column === 'tenant_id') return project_id
  if (column !== 'id') return row_id
  return { organizations: organization_id, projects: project_id }[table] ?? row_id
}
