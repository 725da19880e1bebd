import type { Relational } from '../../platform/relational/index.ts'
import type { Division } from './rows-store.ts'
import type { KeyValues } from './sorting-key.ts'

/** Tables of the target that record a move. They are not part of the schema of the service. */
export const moveTables = ['data_moves', 'data_move_divisions', 'schema_migrations'] as const

/** The source of a move: which installation, and its last change. */
export type MoveSource = {
  /** Identifier of the source's PostgreSQL, which never changes. */
  id: string
  /** Number of its next transaction: each write of the installation increases it. */
  position: string
}

/** The recorded state of a move. */
export type MoveState = MoveSource & { is_metadata_moved: boolean; is_finished: boolean }

/** Rows of a division that were moved. `after`: the key of the last one. */
type DivisionState = { after?: KeyValues | undefined; rows: number; verified: boolean }

/** The record of a move in the target's PostgreSQL. */
export type MoveProgress = {
  /** Returns the move into this database, or undefined. Writes nothing. */
  find(): Promise<MoveState | undefined>
  /** Records the start of a move. */
  begin(source: MoveSource): Promise<void>
  read(division: Division): Promise<DivisionState>
  write(division: Division, state: DivisionState): Promise<void>
  finish(): Promise<void>
}

type Queries = Pick<Relational<unknown>['pool'], 'query'>

/** Opens the record. Rejects with the driver's errors. */
export function openMoveProgress(pool: Queries): MoveProgress {
  return {
    find: () => findMove(pool),
    begin: async ({ id, position }) => {
      for (const statement of tables) await pool.query(statement)
      await pool.query('insert into data_moves (source_id, source_position) values ($1, $2)', [
        id,
        position,
      ])
    },
    read: async ({ table, value }) => {
      const { rows } = await pool.query<{
        after: KeyValues | null
        rows: string
        verified: boolean
      }>(
        `select after_key as after, rows::text as rows, verified from data_move_divisions
         where table_name = $1 and division = $2`,
        [table.name, value],
      )
      const [row] = rows
      if (row === undefined) return { rows: 0, verified: false }
      return { after: row.after ?? undefined, rows: Number(row.rows), verified: row.verified }
    },
    write: async ({ table, value }, { after, rows, verified }) => {
      await pool.query(
        `insert into data_move_divisions (table_name, division, after_key, rows, verified)
         values ($1, $2, $3, $4, $5)
         on conflict (table_name, division) do update
         set after_key = $3, rows = $4, verified = $5`,
        [table.name, value, after === undefined ? null : JSON.stringify(after), rows, verified],
      )
    },
    finish: async () => {
      await pool.query('update data_moves set finished_at = now()')
    },
  }
}

/** Records that the metadata was moved, in the transaction that moves it. */
export async function recordMetadata(transaction: Pick<Queries, 'query'>): Promise<void> {
  await transaction.query('update data_moves set metadata_moved_at = now()')
}

/** Returns the recorded move into a database, or undefined. */
async function findMove(pool: Queries): Promise<MoveState | undefined> {
  const table = await pool.query("select to_regclass('data_moves') is not null as found")
  if (table.rows[0]?.found !== true) return undefined
  const { rows } = await pool.query<MoveState>(
    `select source_id as id, source_position as position,
       metadata_moved_at is not null as is_metadata_moved, finished_at is not null as is_finished
     from data_moves`,
  )
  return rows[0]
}

/** Returns whether a move into this database has begun and is not finished. */
export async function isMoveUnfinished(pool: Queries): Promise<boolean> {
  const move = await findMove(pool)
  return move !== undefined && !move.is_finished
}

const tables = [
  `create table if not exists data_moves (
    is_single boolean primary key default true check (is_single),
    source_id text not null,
    source_position text not null,
    began_at timestamptz(3) not null default now(),
    metadata_moved_at timestamptz(3),
    finished_at timestamptz(3)
  )`,
  `create table if not exists data_move_divisions (
    table_name text not null,
    division text not null,
    after_key jsonb,
    rows bigint not null,
    verified boolean not null,
    primary key (table_name, division)
  )`,
]
