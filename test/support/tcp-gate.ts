import { connect, createServer, type Socket } from 'node:net'

/** A way to a server on loopback that can be shut: as if the server had gone. */
export type TcpGate = AsyncDisposable & {
  /** The given URL with the gate's own port. */
  url: string
  /** Connections that came so far. */
  readonly connections: number
  /** Breaks what is connected, and whatever connects from now on. */
  close(): void
  open(): void
  /** What the server says does not come through, until the next close or open; it still hears. */
  mute(): void
  /** Nothing comes through either way, until the next open; who connects meanwhile waits too. */
  stall(): void
  /** Resets what is connected, as a server does that knows nothing of it. New ones come through. */
  reset(): void
  /** The server's side of what is connected goes, and the client is not told. New ones come through. */
  halfOpen(): void
}

/** The two ends of what goes through. */
type Pair = { near: Socket; far: Socket }

/** Opens a gate before the server that the URL names. */
export async function tcpGate(target: string): Promise<TcpGate> {
  const { hostname, port } = new URL(target)
  const pairs = new Set<Pair>()
  const forgotten = new Set<Socket>()
  let state: 'open' | 'stalled' | 'closed' = 'open'
  let connections = 0
  const server = createServer((near) => {
    connections += 1
    if (state === 'closed') {
      near.destroy()
      return
    }
    const pair = { near, far: connect(Number(port), hostname) }
    pairs.add(pair)
    breakTogether(pair, () => pairs.delete(pair))
    if (state === 'open') join(pair)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the gate has no port')
  const url = new URL(target)
  url.host = `127.0.0.1:${address.port}`
  const breakAll = () => {
    for (const { near, far } of pairs) for (const socket of [near, far]) socket.destroy()
    for (const near of forgotten) near.destroy()
    forgotten.clear()
  }
  return {
    url: url.href,
    get connections() {
      return connections
    },
    close: () => {
      state = 'closed'
      breakAll()
    },
    open: () => {
      state = 'open'
      for (const pair of pairs) {
        // Piped twice, all that is said would come twice.
        part(pair)
        join(pair)
      }
    },
    mute: () => {
      for (const { near, far } of pairs) far.unpipe(near)
    },
    stall: () => {
      state = 'stalled'
      for (const pair of pairs) part(pair)
    },
    reset: () => {
      for (const { near, far } of pairs) {
        near.resetAndDestroy()
        far.destroy()
      }
    },
    halfOpen: () => {
      for (const pair of pairs) {
        part(pair)
        forgotten.add(pair.near)
        pairs.delete(pair)
        pair.far.removeAllListeners('close').destroy()
        pair.near.resume()
      }
    },
    [Symbol.asyncDispose]: async () => {
      breakAll()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function join({ near, far }: Pair): void {
  near.pipe(far)
  far.pipe(near)
}

function part({ near, far }: Pair): void {
  near.unpipe(far)
  far.unpipe(near)
}

/** An end that breaks takes the other with it, whether they are joined or not. */
function breakTogether({ near, far }: Pair, gone: () => void): void {
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    from.on('error', () => to.destroy())
    from.on('close', () => {
      gone()
      to.destroySoon()
    })
  }
}
