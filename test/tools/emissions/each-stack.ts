import { type Stack, stacks } from './stacks.ts'

/** Returns the named stacks, or all of them without names. Throws with the names that are unknown. */
export function chooseStacks(names: readonly string[]): Stack[] {
  const unknown = names.filter((name) => !stacks.some((stack) => stack.name === name))
  if (unknown.length > 0) {
    const known = stacks.map(({ name }) => name).join(', ')
    throw new Error(`unknown stacks: ${unknown.join(', ')}. Known stacks: ${known}`)
  }
  return stacks.filter(({ name }) => names.length === 0 || names.includes(name))
}

/**
 * Runs a job for one stack after the other, also after one failed. The exit status of the process is 1 if
 * any failed, and they are named at the end. Returns their names.
 */
export async function runEach(
  chosen: readonly Stack[],
  job: (stack: Stack) => Promise<void>,
): Promise<string[]> {
  const failed: string[] = []
  for (const stack of chosen) {
    try {
      await job(stack)
    } catch (fault) {
      failed.push(stack.name)
      console.error(`${stack.name}: ${(fault as Error).message}`)
    }
  }
  if (failed.length > 0) {
    console.error(`failed: ${failed.join(', ')}`)
    process.exitCode = 1
  }
  return failed
}
