import { z } from 'zod'

const fromServerSchema = z.discriminatedUnion('event', [
  z.object({ event: z.literal('ready'), port: z.int().positive() }),
  z.object({ event: z.literal('failed'), message: z.string() }),
])

/** What the child tells its parent. */
export type FromServer = z.infer<typeof fromServerSchema>

/** Reads a message of the child; undefined when it is none. */
export function fromServer(message: unknown): FromServer | undefined {
  return fromServerSchema.safeParse(message).data
}

/** What the parent tells the child: finish what runs, then end. */
export const stopRequest = { request: 'stop' }

export function isStopRequest(message: unknown): boolean {
  return z.object({ request: z.literal('stop') }).safeParse(message).success
}
