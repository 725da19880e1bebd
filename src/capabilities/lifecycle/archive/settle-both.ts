/**
 * Waits until both have ended, and then rejects when one did: what follows a failure must not meet
 * the other one still at work.
 */
export async function settleBoth<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second])
  return Promise.all([first, second])
}
