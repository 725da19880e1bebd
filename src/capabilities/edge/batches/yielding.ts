import { setImmediate } from 'node:timers/promises'

/** How long records of one batch are worked on before other requests get their turn. */
const slice_ms = 8
/** Records between two looks at the clock. */
const stride = 32

/** Calls `step` for each index below `length`, in slices, so that a large batch stops nobody. */
export async function inSlices(length: number, step: (index: number) => void): Promise<void> {
  let end = performance.now() + slice_ms
  for (let index = 0; index < length; index += 1) {
    step(index)
    if (index % stride === stride - 1 && performance.now() > end) {
      await setImmediate()
      end = performance.now() + slice_ms
    }
  }
}
