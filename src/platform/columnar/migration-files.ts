import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A numbered file; its statements are templates (see `renderStatement`), each idempotent. */
export type ColumnarMigration = {
  version: number
  name: string
  /** SHA-256 of the file, in hex, so that an edited one is noticed. */
  checksum: string
  statements: readonly string[]
}

/** The files are not what they have to be, or the server's schema does not fit them. */
export class ColumnarMigrationRefused extends Error {
  override readonly name = 'ColumnarMigrationRefused'
}

export const columnarMigrationsDirectory: string = fileURLToPath(
  new URL('./migrations/', import.meta.url),
)

/** Reads a folder of `0001_what_it_does.sql` files, without holes. */
export async function readColumnarMigrations(directory: string): Promise<ColumnarMigration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort()
  const migrations = await Promise.all(
    files.map(async (file) => parseMigration(file, await readFile(join(directory, file), 'utf8'))),
  )
  for (const [index, { name, version }] of migrations.entries()) {
    if (version !== index + 1) {
      throw new ColumnarMigrationRefused(`got ${name}, expected number ${index + 1}`)
    }
  }
  return migrations
}

/** Takes one file apart at its lines `-- statement`. */
function parseMigration(file: string, source: string): ColumnarMigration {
  const match = /^(\d{4})_[a-z0-9_]+\.sql$/.exec(file)
  if (!match) {
    throw new ColumnarMigrationRefused(`got the file ${file}, expected 0001_what_it_does.sql`)
  }
  const text = source.replaceAll('\r\n', '\n')
  return {
    version: Number(match[1]),
    name: file.slice(0, -'.sql'.length),
    checksum: createHash('sha256').update(text).digest('hex'),
    statements: text.split(/^-- statement$/m).map((statement) => statement.trim()),
  }
}
