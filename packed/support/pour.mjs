/** Pours requests into 8 connections without waiting for an answer, from a thread of its own. */
import { connect } from 'node:net';
import { workerData } from 'node:worker_threads';

const { url, path, seconds } = workerData;
const { port } = new URL(url);
const text = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(500);
const end = performance.now() + seconds * 1_000;

/** One connection, with all that it takes. */
const pour = () =>
  new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
    const write = () => {
      if (performance.now() > end) socket.destroy();
      else if (socket.write(text)) setImmediate(write);
      else socket.once('drain', write);
    };
    socket.on('connect', write).on('close', resolve).resume();
  });
const one = async () => {
  while (performance.now() < end) await pour();
};
await Promise.all(Array.from({ length: 8 }, one));
