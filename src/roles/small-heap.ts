import { setFlagsFromString } from 'node:v8'

/**
 * Keeps the heap of a process small that is idle most of the time: V8 else lets its young generation
 * grow to over 100 MB while a thousand resources are read, and gives nothing of it back. Called
 * before the role's modules are loaded. Measured: 2 to 3 times less memory for a tenth more time.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--optimize-for-size')
}
