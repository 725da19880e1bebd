import type { ColumnarServer } from '../../src/platform/columnar/index.ts'

/** Recreates the empty table of observations, partitioned by another expression. */
export async function partitionBy(columnar: ColumnarServer, expression: string): Promise<void> {
  const [row] = await columnar.query<{ statement: string }>('SHOW CREATE TABLE observations')
  const text = row?.statement ?? ''
  const changed = text.replace(/PARTITION BY .+/, `PARTITION BY ${expression}`)
  if (changed === text) throw new Error(`got ${text}, expected a partitioned table`)
  await columnar.command('DROP TABLE observations SYNC')
  await columnar.command(changed)
}
