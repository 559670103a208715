import "./style.css";

const app = document.getElementById("app");
if (app) app.textContent = "Pebble-Bridge";
