import { mount } from 'svelte';
import { guardDrops, guardLanguage } from './guards';
import './style/tokens.css';
import './style/base.css';

guardLanguage();
guardDrops();

// The rest is loaded after the guards: it may use Intl while it is read.
const { default: App } = await import('./App.svelte');
mount(App, { target: document.getElementById('app')! });
