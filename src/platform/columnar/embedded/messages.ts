import { z } from 'zod'

const fromServerSchema = z.discriminatedUnion('event', [
  z.object({ event: z.literal('ready'), port: z.int().positive() }),
  z.object({ event: z.literal('failed'), message: z.string() }),
])

/** A message of the child to its parent. */
export type FromServer = z.infer<typeof fromServerSchema>

/** Parses a message of the child. Returns undefined for any other value. */
export function fromServer(message: unknown): FromServer | undefined {
  return fromServerSchema.safeParse(message).data
}

/** The message of the parent to the child: finish running statements, then exit. */
export const stopRequest = { request: 'stop' }

export function isStopRequest(message: unknown): boolean {
  return z.object({ request: z.literal('stop') }).safeParse(message).success
}
