/** A real server that remembers what it was asked. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Asked {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export class TestServer implements AsyncDisposable {
  readonly asked: Asked[] = [];
  readonly #server: Server;

  /** `answer` is called when a request is here in full. */
  static async start(answer: (asked: Asked, response: ServerResponse) => void): Promise<TestServer> {
    const server = new TestServer(answer);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  private constructor(answer: (asked: Asked, response: ServerResponse) => void) {
    this.#server = createServer((request, response) => {
      const { method = '', url = '', headers } = request;
      void text(request).then((body) => {
        const asked = { method, url, headers, body };
        this.asked.push(asked);
        return answer(asked, response);
      });
    });
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  url(path: string): string {
    return `http://${this.host}${path}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
