import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'

/**
 * Answers of a hostile HTTP server, as bytes on the wire. `accepted`: the receiver took the message,
 * although its answer is strange. `failed`: the message must be sent again.
 */
export type HostileAnswer = {
  name: string
  outcome: 'accepted' | 'failed'
  answer(socket: Socket): void
}

const ok = 'HTTP/1.1 200 OK\r\n'

/** Writes the same bytes until the connection ends. */
function flood(socket: Socket, head: string, bytes: Buffer): void {
  socket.write(head)
  const write = () => {
    while (!socket.destroyed && socket.write(bytes));
    if (!socket.destroyed) socket.once('drain', write)
  }
  write()
}

/** Writes a text every few ms until the connection ends. */
function drip(socket: Socket, head: string, text: string): void {
  socket.write(head)
  const timer = setInterval(() => socket.write(text), 20)
  socket.on('close', () => clearInterval(timer))
}

const bomb = gzipSync(Buffer.alloc(50_000_000))
const redirect = (location: string) => (socket: Socket) =>
  void socket.end(`HTTP/1.1 307 Go\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`)

/** The answers that each receiver of the product must survive. */
export const hostileAnswers: readonly HostileAnswer[] = [
  {
    name: 'a body without end',
    outcome: 'accepted',
    answer: (socket) => flood(socket, `${ok}\r\n`, Buffer.alloc(65_536, 'a')),
  },
  {
    name: '100 MB',
    outcome: 'accepted',
    answer: (socket) =>
      flood(socket, `${ok}Content-Length: 104857600\r\n\r\n`, Buffer.alloc(65_536, 'a')),
  },
  {
    name: 'a compressed bomb',
    outcome: 'accepted',
    answer: (socket) => {
      const head = `Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`
      socket.write(Buffer.concat([Buffer.from(`${ok}${head}`), bomb]))
    },
  },
  {
    name: 'a second answer behind the first',
    outcome: 'accepted',
    answer: (socket) =>
      void socket.end(`${ok}Content-Length: 0\r\n\r\nHTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n`),
  },
  {
    name: 'headers that drip',
    outcome: 'failed',
    answer: (socket) => drip(socket, ok, 'X-A: b\r\n'),
  },
  {
    name: 'headers without end',
    outcome: 'failed',
    answer: (socket) => flood(socket, ok, Buffer.from('X-A: b\r\n'.repeat(1_000))),
  },
  {
    name: 'early hints without end',
    outcome: 'failed',
    answer: (socket) => flood(socket, '', Buffer.from('HTTP/1.1 103 Early\r\n\r\n'.repeat(100))),
  },
  {
    name: 'a body that drips',
    outcome: 'failed',
    answer: (socket) => drip(socket, `${ok}\r\n`, '.'),
  },
  {
    name: '200 and a reset',
    outcome: 'failed',
    answer: (socket) =>
      void socket.write(`${ok}Content-Length: 100\r\n\r\nabc`, () => socket.resetAndDestroy()),
  },
  {
    name: 'a length and chunks',
    outcome: 'failed',
    answer: (socket) =>
      void socket.end(
        `${ok}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
      ),
  },
  {
    name: 'two lengths',
    outcome: 'failed',
    answer: (socket) => void socket.end(`${ok}Content-Length: 0\r\nContent-Length: 3\r\n\r\nabc`),
  },
  {
    name: 'a NUL in a header',
    outcome: 'failed',
    answer: (socket) => void socket.end(`${ok}X-A: a\0b\r\nContent-Length: 0\r\n\r\n`),
  },
  {
    name: 'a switch of protocols',
    outcome: 'failed',
    answer: (socket) =>
      void socket.end('HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
  },
  {
    name: 'a status that is none',
    outcome: 'failed',
    answer: (socket) => void socket.end('HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n'),
  },
  {
    name: 'no HTTP',
    outcome: 'failed',
    answer: (socket) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
  },
  {
    name: 'a redirect to the metadata of a cloud',
    outcome: 'failed',
    answer: redirect('http://169.254.169.254/latest/meta-data'),
  },
  {
    name: 'a redirect to loopback',
    outcome: 'failed',
    answer: redirect('http://127.0.0.1:1/'),
  },
]
