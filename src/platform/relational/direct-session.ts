import type pg from 'pg'

/**
 * Returns whether the connection has a session of the server to itself, which can keep statements
 * and receive notifications. A pooler reports a process of its own.
 */
export async function isDirectSession(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  // The types of pg leave it out.
  const { processID } = client as pg.ClientBase & { processID?: number }
  return rows[0]?.pid === processID
}
