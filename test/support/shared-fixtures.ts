import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Fixtures that several projects share, beside the checkout; a clone alone does not have them. */
const directory = join(import.meta.dirname, '../../../shared/fixtures')

/** Whether the shared fixtures are there. Tests of them are skipped without. */
export const hasSharedFixtures = existsSync(directory)

/** Reads a JSON fixture by its path below the fixtures. */
export function readFixture<Shape>(path: string): Shape {
  return JSON.parse(readFileSync(join(directory, path), 'utf8')) as Shape
}

/** Returns the names of the JSON fixtures of a folder, sorted; none without fixtures. */
export function fixtureNames(folder: string): string[] {
  if (!hasSharedFixtures) return []
  return readdirSync(join(directory, folder))
    .filter((name) => name.endsWith('.json'))
    .toSorted()
}
