import OpenAI from 'openai'

/** Result for a user of the package: the answer, or the error as the package describes it. */
export async function outcomeOf(run: () => Promise<unknown>): Promise<unknown> {
  try {
    return await run()
  } catch (error) {
    return { error: describedError(error) }
  }
}

/** The chunks of a stream, and its error if it failed. Stops reading after `chunks_max`. */
export async function heardBefore(
  opening: PromiseLike<AsyncIterable<unknown>>,
  chunks_max = Number.POSITIVE_INFINITY,
): Promise<{ chunks: unknown[]; error?: unknown }> {
  const chunks: unknown[] = []
  try {
    for await (const chunk of await opening) {
      chunks.push(chunk)
      if (chunks.length === chunks_max) break
    }
    return { chunks }
  } catch (error) {
    return { chunks, error: describedError(error) }
  }
}

function describedError(error: unknown): object {
  if (!(error instanceof Error)) return { thrown: error }
  const name = error.constructor.name
  const { message } = error
  if (!(error instanceof OpenAI.APIError)) return { name, message }
  const { status, code, param, type, requestID } = error
  return { name, message, status, code, param, type, requestID, error: error.error }
}
