import { connect, createServer, type Socket } from 'node:net'

/** A way to a server on loopback that can be shut: as if the server had gone. */
export type TcpGate = AsyncDisposable & {
  /** The given URL with the gate's own port. */
  url: string
  /** Breaks what is connected, and whatever connects from now on. */
  close(): void
  open(): void
  /** What the server says does not come through, until the next close or open; it still hears. */
  mute(): void
}

/** Opens a gate before the server that the URL names. */
export async function tcpGate(target: string): Promise<TcpGate> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const answering = new Map<Socket, Socket>()
  let isOpen = true
  const server = createServer((near) => {
    if (!isOpen) {
      near.destroy()
      return
    }
    const far = connect(Number(port), hostname)
    answering.set(far, near)
    far.on('close', () => answering.delete(far))
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => sockets.delete(from))
      from.pipe(to)
    }
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the gate has no port')
  const url = new URL(target)
  url.host = `127.0.0.1:${address.port}`
  const breakAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    close: () => {
      isOpen = false
      breakAll()
    },
    open: () => {
      isOpen = true
      // Piped twice, all that is said would come twice.
      for (const [far, near] of answering) far.unpipe(near).pipe(near)
    },
    mute: () => {
      for (const [far, near] of answering) far.unpipe(near)
    },
    [Symbol.asyncDispose]: async () => {
      breakAll()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
