import { type Fault, faultAt } from '../lint/fault.ts'
import type { Path } from '../lint/read-documents.ts'

/** Collects faults at a path of a file, and below it. */
export class FaultSink {
  readonly faults: Fault[]
  readonly path: Path

  constructor(path: Path, faults: Fault[] = []) {
    this.path = path
    this.faults = faults
  }

  /** Returns a sink for a path below this one, with the same list of faults. */
  at(...path: Path): FaultSink {
    return new FaultSink([...this.path, ...path], this.faults)
  }

  add(message: string): void {
    this.faults.push(faultAt(this.path, message))
  }
}
