import { connect, createServer, type Socket } from 'node:net'

/** A proxy to a loopback server that can be closed, as if the server were down. */
export type TcpGate = AsyncDisposable & {
  /** The given URL with the gate's own port. */
  url: string
  /** Number of connections so far. */
  readonly connections: number
  /** Breaks all connections, and every new one. */
  close(): void
  open(): void
  /**
   * Discards the server's answers until the next close or open; the server still receives requests.
   */
  mute(): void
  /** Forwards nothing in either direction until the next open; new connections wait too. */
  stall(): void
  /** Resets all connections, like a restarted server. New ones are forwarded. */
  reset(): void
  /**
   * Closes the server's side of all connections without telling the client. New ones are forwarded.
   */
  halfOpen(): void
}

/** The two ends of a forwarded connection. */
type Pair = { near: Socket; far: Socket }

/** Opens a gate in front of the server that the URL names. */
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
        // Piping twice would send all data twice.
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

/** An end that breaks closes the other one, whether they are joined or not. */
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
