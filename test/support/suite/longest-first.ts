import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { isSoak } from './budget.ts'
import { readDurations } from './durations.ts'

/**
 * Starts the longest files first, so that no worker is left alone with one at the end. Files
 * without a recorded duration are new and come first. Files of a project stay together, so that
 * they can share a worker.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { files: recorded } = readDurations()
    const root = this.ctx.config.root
    const seconds = ({ moduleId }: TestSpecification) => {
      const { test, soak } = recorded[moduleId.slice(root.length + 1)] ?? {}
      const ran = isSoak ? (soak ?? test) : test
      return ran?.seconds ?? Number.POSITIVE_INFINITY
    }
    return files.toSorted((a, b) => {
      const [one, other] = [a.project.name, b.project.name]
      if (one !== other) return one < other ? -1 : 1
      const difference = seconds(b) - seconds(a)
      return Number.isNaN(difference) ? 0 : difference
    })
  }
}
