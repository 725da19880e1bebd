import { sleep } from './time.ts'

const pause_ms_min = 20
const pause_ms_max = 250

/**
 * Repeats `ask` with growing pauses until `done` returns true, the time limit passes or the signal
 * aborts. Resolves with the last answer.
 */
export async function poll<Answer>(
  ask: () => Promise<Answer>,
  done: (answer: Answer) => boolean,
  limits: { wait_ms_max: number; signal: AbortSignal },
): Promise<Answer> {
  const end = performance.now() + limits.wait_ms_max
  let pause_ms = pause_ms_min
  let answer = await ask()
  while (!done(answer) && performance.now() < end && !limits.signal.aborted) {
    await sleep(Math.min(pause_ms, Math.max(1, end - performance.now())), limits.signal)
    pause_ms = Math.min(pause_ms * 1.5, pause_ms_max)
    answer = await ask()
  }
  return answer
}
