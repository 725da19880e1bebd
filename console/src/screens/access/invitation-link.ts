/**
 * Returns the link of a new invitation; undefined if it was mailed, or if the reply is a member. Without
 * a public URL of the service, the link opens this console's server.
 */
export function linkOf(
  reply: { email?: string; token?: string | null; accept_url?: string | null },
  origin: string,
): string | undefined {
  if (typeof reply.accept_url === 'string') return reply.accept_url
  return typeof reply.token === 'string' ? `${origin}/invitation#token=${reply.token}` : undefined
}
