import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest on a machine with two cores, and whose size does not show it. */
const longest = [
  ...['audit-sinks', 'kills-cluster', 'clients-single-machine', 'operator-kills'],
  ...['stalled-clickhouse', 'kills-archive', 'audit-kills', 'operator-rights'],
  ...['clients-cluster', 'kills-single-machine', 'start-stopped', 'secrets'],
  ...['erasure-everywhere', 'query-time', 'retention-run', 'retention-dry-run-property'],
]

/** Starts the longest files first, so that no worker is left alone with one at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = longest.indexOf(basename(moduleId, '.test.ts'))
      return at === -1 ? longest.length : at
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
