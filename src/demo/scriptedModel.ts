/**
 * A model that says what a script tells it to, behind a real OpenAI-compatible HTTP endpoint: for the
 * keyless demo, for tests and for the bench. It speaks Chat Completions and Responses, streamed and not.
 * A script that looks at the conversation alone survives kills of either side and serves many sessions.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sendTurn } from './scriptedAnswer.ts';
import { readConversation, type Outcome, type Protocol, type SeenRequest } from './scriptedRequest.ts';
import { fail, type ScriptedTurn } from './scriptedTurns.ts';

/** Decides what is answered; `index` counts the requests of this process from 0. */
export type Script = (request: SeenRequest, index: number) => ScriptedTurn | Promise<ScriptedTurn>;

export interface ScriptedModelOptions {
  script: Script;
  /** Default: any free one. */
  port?: number;
  /** The ids of GET /v1/models. */
  models?: string[];
}

export interface ScriptedModel {
  /** What a client takes as its base URL: `http://127.0.0.1:PORT/v1`. */
  url: string;
  /** The endpoint's own log of model calls, in order of arrival; GET /requests shows it in short. */
  requests: SeenRequest[];
  /** Stops listening and cuts all connections. */
  close: () => Promise<void>;
}

/** A client may keep a connection for so long between two calls. */
const KEEP_ALIVE_MS = 60_000;

/** Starts the endpoint on 127.0.0.1. Rejects with Node's error when the port is taken. */
export async function startScriptedModel(options: ScriptedModelOptions): Promise<ScriptedModel> {
  const requests: SeenRequest[] = [];
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, noDelay: true }, (request, response) => {
    void handle(request, response, requests, options);
  });
  const port = await listen(server, options.port ?? 0);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

async function handle(
  message: IncomingMessage,
  response: ServerResponse,
  requests: SeenRequest[],
  options: ScriptedModelOptions,
): Promise<void> {
  const path = (message.url ?? '/').split('?', 1)[0] ?? '/';
  const protocol = protocolOf(path);
  if (protocol === undefined || message.method !== 'POST') {
    message.resume();
    answerOther(path, response, requests, options.models ?? ['scripted']);
    return;
  }
  try {
    const seen = seeRequest(message, response, protocol, await readBody(message), requests.length);
    requests.push(seen);
    await sendTurn(await options.script(seen, seen.index), seen, response);
  } catch (error) {
    // The script's own mistake, or a body that is no JSON: said to the client, never a hanging request.
    if (response.headersSent) response.destroy();
    else
      json(response, 500, { error: { message: `scripted model: ${String(error)}`, type: 'script_error' } });
  }
}

function protocolOf(path: string): Protocol | undefined {
  if (path.endsWith('/chat/completions')) return 'chat';
  return path.endsWith('/responses') ? 'responses' : undefined;
}

function answerOther(
  path: string,
  response: ServerResponse,
  requests: SeenRequest[],
  models: string[],
): void {
  if (path.endsWith('/models')) {
    const data = models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'holdfast' }));
    json(response, 200, { object: 'list', data });
  } else if (path === '/requests') {
    json(response, 200, requests.map(inShort));
  } else {
    json(response, 404, fail(404).body);
  }
}

function inShort(request: SeenRequest): object {
  const { index, at, protocol, idempotencyKey, model, lastUserText, step, outcome } = request;
  return { index, at, protocol, idempotency_key: idempotencyKey, model, user: lastUserText, step, outcome };
}

async function readBody(message: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
}

function seeRequest(
  message: IncomingMessage,
  response: ServerResponse,
  protocol: Protocol,
  body: Record<string, unknown>,
  index: number,
): SeenRequest {
  const key = message.headers['idempotency-key'];
  const seen: SeenRequest = {
    index,
    at: new Date().toISOString(),
    path: message.url ?? '',
    protocol,
    headers: message.headers,
    idempotencyKey: typeof key === 'string' ? key : undefined,
    clientPort: message.socket.remotePort,
    model: String(body['model']),
    streamed: body['stream'] === true,
    body,
    outcome: undefined,
    ended: outcomeOf(response),
    ...readConversation(protocol, body),
  };
  void seen.ended.then((outcome) => (seen.outcome = outcome));
  return seen;
}

async function outcomeOf(response: ServerResponse): Promise<Outcome> {
  return new Promise((resolve) => {
    response.once('close', () => {
      if (response.writableFinished) resolve('answered');
      else resolve(response.destroyed && response.errored ? 'broken' : 'aborted');
    });
  });
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
