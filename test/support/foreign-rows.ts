import type { ColumnarServer } from '../../src/platform/columnar/index.ts'

/** A table with rows of projects, and its columns. */
export type TenantTable = { name: string; columns: readonly string[] }

/** Lists what the catalogue says has rows of projects: tables and views. */
export async function listTenantTables(columnar: ColumnarServer): Promise<TenantTable[]> {
  return columnar.query<TenantTable>(
    `SELECT c.table AS name, groupArray(c.name) AS columns FROM system.columns AS c
     WHERE c.database = {database:String} GROUP BY c.table HAVING has(columns, 'project_id')
     ORDER BY c.table`,
    { database: columnar.database },
  )
}

/** Gives each project these numbers of rows in a table, with generated values in other columns. */
export async function fillTable(
  columnar: ColumnarServer,
  { name, columns }: TenantTable,
  rows: Readonly<Record<string, number>>,
): Promise<void> {
  const names = columns.filter((column) => column !== 'project_id')
  const types = await columnar.query<{ name: string; type: string }>(
    `SELECT name, type FROM system.columns
     WHERE database = {database:String} AND table = {name:String}`,
    { database: columnar.database, name },
  )
  const typeOf = new Map(types.map((column) => [column.name, column.type]))
  // Times of today, so that a TTL drops no row.
  const generated = (column: string) => {
    const type = typeOf.get(column) ?? ''
    return type.startsWith('DateTime')
      ? `now64(3) - INTERVAL n SECOND`
      : `defaultValueOfTypeName('${type.replaceAll("'", "\\'")}')`
  }
  const key = names.find((column) => typeOf.get(column) === 'UUID' && column !== 'slice_id')
  for (const [project, count] of Object.entries(rows)) {
    const values = names.map((column) => (column === key ? 'generateUUIDv4(n)' : generated(column)))
    await columnar.command(
      `INSERT INTO ${name} (project_id, ${names.map((column) => `\`${column}\``).join(', ')})
       SELECT {project:UUID}, ${values.join(', ')} FROM (SELECT number AS n FROM numbers({count:UInt64}))`,
      { project, count },
    )
  }
}
