/** Whole outputs, stored by their sha256: written once, never changed, shared by equal contents. */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobRef } from '../../domain/tool.ts';
import { fsyncPath, makePrivateFolder, writeFileAtomic } from '../../host/files.ts';

export class BlobStore {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** Stores bytes; equal bytes are stored once. */
  async put(bytes: Uint8Array): Promise<BlobRef> {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const path = await this.#place(sha256);
    if ((await sizeOf(path)) !== bytes.byteLength) await writeFileAtomic(path, bytes);
    return { sha256, bytes: bytes.byteLength };
  }

  /** Stores a file's content without holding it in memory. */
  async putFile(source: string): Promise<BlobRef> {
    await makePrivateFolder(this.root);
    const temporary = join(this.root, `.${randomBytes(6).toString('hex')}.tmp`);
    try {
      await copyFile(source, temporary);
      const ref = await digestFile(temporary);
      const path = await this.#place(ref.sha256);
      await fsyncPath(temporary);
      await rename(temporary, path);
      await fsyncPath(join(path, '..'));
      return ref;
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /** Reads `length` bytes from `offset`; fewer at the end. Rejects with ENOENT when the blob is not here. */
  async read(ref: BlobRef, offset: number, length: number): Promise<Buffer> {
    const handle = await open(this.#path(ref.sha256), 'r');
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, offset);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  }

  #path(sha256: string): string {
    return join(this.root, sha256.slice(0, 2), sha256);
  }

  async #place(sha256: string): Promise<string> {
    const path = this.#path(sha256);
    await makePrivateFolder(join(path, '..'));
    return path;
  }
}

async function digestFile(path: string): Promise<BlobRef> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.byteLength;
  }
  return { sha256: hash.digest('hex'), bytes };
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch {
    return undefined;
  }
}
